"""A platform's download of submissions, taken apart by learner and put into submitted/."""
