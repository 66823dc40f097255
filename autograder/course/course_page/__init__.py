"""The page of a course: where each assignment stands, and what is to be done next."""
