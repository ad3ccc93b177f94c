"""The house style, and how a notebook shows pictures, tables and sentences."""
