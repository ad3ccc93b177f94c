"""How notebooks become a book: reading, executing, editions, staging, building."""
