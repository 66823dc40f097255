"""LTI 1.3 with a learning platform: its roster into the gradebook (NRPS), grades back into its columns (AGS).

Only the services are spoken, as the tool that an administrator has registered; nobody launches anything, and nothing is
sent but by a command of the teacher's. The platform's addresses and the key are in `.gpubook/`.
"""
