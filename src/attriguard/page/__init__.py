"""A guard as a page for people: packed weights, and the search in JavaScript, in one file that sends nothing."""
