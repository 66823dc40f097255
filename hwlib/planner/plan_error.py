"""What the planner raises: a field at fault, and what would be right."""


class PlanError(ValueError):
    """A task without a plan: the `field` at fault, and the `problem`, with values that would work."""

    def __init__(self, field: str, problem: str):
        super().__init__(field, problem)
        self.field, self.problem = field, problem

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"
