"""Engines that need more than this process: adapters of the port in coterie.inference."""
