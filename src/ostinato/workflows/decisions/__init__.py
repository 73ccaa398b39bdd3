"""Decide which handler runs next, what follows a failure, in which phase a retry begins, and which key an effect gets.
The functions are pure: they use no store and no clock."""
