"""Do groups of rows differ in their links?"""
