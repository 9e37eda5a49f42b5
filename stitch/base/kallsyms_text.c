/* kallsyms_text.c - reads the lines of a copy of /proc/kallsyms. */
#include "stitch/base/kallsyms_text.h"

#define DIGITS 16 /* maximum number of digits of an address */
#define HIGH (DIGITS / 2)

/* The value of each hexadecimal digit plus 1; 0 for other characters. */
static const uint8_t digit[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Reads the number at the start of a line into *out and returns how many digits
 * it has. In all but a few lines the first half equals that of the previous
 * line: not reading it again saves a tenth of the instructions of the ingest of
 * a small trace.dat. */
static size_t kallsyms_text_hex(struct kallsyms_text *t, const char *line,
				size_t len, uint64_t *out)
{
	const size_t max = len < DIGITS ? len : DIGITS;
	const bool same =
		max == DIGITS && t->high && !memcmp(line, t->high, HIGH);
	uint64_t v = same ? t->high_value : 0;
	size_t n = same ? HIGH : 0;

	for (uint8_t d; n < max && (d = digit[(unsigned char)line[n]]); n++)
		v = v << 4 | (d - 1u);
	if (n == DIGITS) {
		t->high = line;
		t->high_value = v >> 4 * HIGH;
	}
	*out = v;
	return n;
}

/* Splits the text after the type: "NAME" or "NAME\t[MODULE]". */
static void kallsyms_text_split(const char *s, size_t len,
				struct kallsyms_line *out)
{
	const char *tab = memchr(s, '\t', len);

	out->name = s;
	out->name_len = tab ? (size_t)(tab - s) : len;
	out->module = NULL;
	out->module_len = 0;
	if (!tab)
		return;
	const char *module = tab + 1;
	const size_t n = len - out->name_len - 1;
	const size_t bracket = n && *module == '[';
	const char *end = memchr(module, ']', n);

	out->module = module + bracket;
	out->module_len = (end ? (size_t)(end - module) : n) - bracket;
}

/* Splits a line. Returns false if it is not a symbol with an address. */
static bool kallsyms_text_line(struct kallsyms_text *t, const char *line,
			       size_t len, struct kallsyms_line *out)
{
	const size_t prefix =
		len > 2 && line[0] == '0' && line[1] == 'x' ? 2 : 0;
	const size_t n =
		kallsyms_text_hex(t, line + prefix, len - prefix, &out->addr);
	const size_t type = prefix + n + 1;

	if (len && line[len - 1] == '\r')
		len--;
	if (!out->addr || len < type + 3 || line[type - 1] != ' ' ||
	    line[type + 1] != ' ' || line[type + 2] == '\t')
		return false;
	out->type = line[type];
	kallsyms_text_split(line + type + 2, len - type - 2, out);
	return true;
}

bool kallsyms_text_next(struct kallsyms_text *t, struct kallsyms_line *out)
{
	bool found = false;

	while (!found && t->left) {
		const char *line = t->at;
		const char *feed = memchr(line, '\n', t->left);
		const size_t len = feed ? (size_t)(feed - line) : t->left;

		t->at += len + (feed != NULL);
		t->left -= len + (feed != NULL);
		found = kallsyms_text_line(t, line, len, out);
	}
	return found;
}
