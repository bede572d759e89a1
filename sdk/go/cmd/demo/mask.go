package main

const (
	shownCharacters = 2
	hiddenUpTo      = 8
	covered         = "****"
)

// mask shows the first and last two characters of a value of more than eight, and says nothing of its length.
func mask(value string) string {
	if value == "" {
		return ""
	}
	characters := []rune(value)
	if len(characters) <= hiddenUpTo {
		return covered
	}
	first, last := characters[:shownCharacters], characters[len(characters)-shownCharacters:]
	return string(first) + covered + string(last)
}
