"""The E-step and the M-step."""
