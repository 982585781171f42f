"""The samplers before they were made fast, frozen: see README.md."""
