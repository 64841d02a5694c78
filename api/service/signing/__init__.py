"""Who is signed in to the pages, and the second factor that some must show for it."""
