"""What answers cases: stages that ask and decide, followed by one loop."""
