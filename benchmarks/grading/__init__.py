"""What grading, reports and the check service cost."""
