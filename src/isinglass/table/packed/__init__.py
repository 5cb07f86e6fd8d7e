"""Tables as packed bits: in chunks that a search asks for counts, in memory or in a file."""
