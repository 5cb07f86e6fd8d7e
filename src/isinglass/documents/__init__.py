"""Files of plain data (JSON) from strangers, read without running or trusting anything."""
