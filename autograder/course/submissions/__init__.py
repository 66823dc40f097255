"""What learners have submitted, as it lies in submitted/: folders, times, files beside a notebook."""
