"""When a classifier answers, so that enough of its answers are right, with confidence."""
