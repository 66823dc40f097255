"""The planner beside published plans and other tools, and the generated parts of its pages."""
