/* safe_text.h - makes text from captures safe to show: characters that control
 * a terminal or hide or turn text, and bytes that are not UTF-8, become visible
 * escapes. */
#pragma once
#include <stddef.h>
#include <stdio.h>

/* One unit of text, with a final 0: a printable character or an escape.
 * Control bytes and bytes that are not UTF-8 become \xNN, characters that are
 * invisible or change the direction of text \uNNNN. */
struct safe_text {
	char text[12];
	unsigned int cells; /* columns in a font of fixed width */
};

/* Makes a unit from the start of s, which has len bytes, at least one. Returns
 * how many bytes it stands for. */
size_t safe_text_unit(const char *s, size_t len, struct safe_text *out);
/* Takes one unit from the front of *s. Returns 1, or 0 at the end. */
int safe_text_next(const char **s, struct safe_text *out);
/* Returns the columns that the whole string takes. */
size_t safe_text_cells(const char *s);
/* Writes s with each character `from` replaced by `to` (';' in folded
 * stacks); 0 replaces nothing. */
void safe_text_put(FILE *out, const char *s, char from, char to);
/* Writes s, made safe, between two texts that are written unchanged. */
void safe_text_say(FILE *out, const char *before, const char *s,
		   const char *after);
/* Returns s as one word for a shell, to be freed: unchanged if it needs no
 * quotes, in quotes, or, with characters that cannot be shown, as $'..', which
 * bash and zsh know. */
char *safe_text_word(const char *s);
/* Writes s for XML text and attributes. At most `cells` columns (0: all); a
 * longer string is cut and ends with "..". */
void safe_text_xml(FILE *out, const char *s, size_t cells);

/* Returns how many bytes at the start are plain printable ASCII. */
size_t safe_text_plain(const char *s, size_t n);

/* Writes len bytes of s, with \xNN for each byte that cannot be shown. */
void safe_text_clean(FILE *out, const char *s, size_t len);
/* Like safe_text_clean(), but writes the character `quote` twice. */
void safe_text_doubled(FILE *out, const char *s, size_t len, char quote);
/* Like safe_text_clean(), into dst, which has size bytes, with \xNN also for
 * the bytes in `also` (NULL: none). Leaves out what does not fit. Returns the
 * length without the final 0 that is added; a size of 4 * len + 1 is always
 * enough. */
size_t safe_text_clean_buf(char *dst, size_t size, const char *s, size_t len,
			   const char *also);
/* Returns how many bytes of s to take, at most max + 3 of len, so that no
 * character is cut in two. */
size_t safe_text_part(const char *s, size_t len, size_t max);
