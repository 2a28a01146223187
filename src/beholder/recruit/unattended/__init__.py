"""Running a study on a platform without anybody at the desk: within the budget, and never against anybody."""
