"""What cannot be read, in one sentence."""


class ReadingError(ValueError):
    """`field` is the option at fault, empty where it is the text."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field
