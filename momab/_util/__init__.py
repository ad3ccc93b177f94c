"""Small tools that everything else uses: validation, files, progress."""
