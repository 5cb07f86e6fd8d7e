"""A page on this machine for people who do not use a shell.

It runs the commands `inspect` and `fit`, each as a process that can be stopped, and shows what they
found. Nothing here computes; no library of numbers is imported.
"""
