/* json.c - writes JSON to a FILE, value by value. */
#include "stitch/text/json.h"

#include <assert.h>
#include <math.h>

#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/utf8.h"

static const char json_digit[] = "0123456789abcdef";

void json_open(struct json *j, FILE *out, enum json_form form)
{
	*j = (struct json){ .out = out, .form = form };
	j->level[0].no_commas = true;
}

void json_answer(struct json *j, FILE *out, enum json_form form)
{
	json_open(j, out, form);
	json_object(j, NULL);
	json_int(j, "version", JSON_VERSION);
}

void json_open_members(struct json *j, FILE *out, bool in_object)
{
	*j = (struct json){ .out = out, .form = JSON_COMPACT };
	j->level[0].is_object = in_object;
}

bool json_failed(const struct json *j)
{
	return ferror(j->out);
}

bool json_can(const char *s, size_t len)
{
	uint32_t c;

	for (size_t n; len; s += n, len -= n) {
		n = utf8_char(s, len, &c);
		if (!n || !c)
			return false;
	}
	return true;
}

uint32_t json_intern(struct intern *in, const char *s, size_t len)
{
	if (json_can(s, len))
		return intern_add_bytes(in, s, len);
	char *clean OWNED = mem_new(len + 1, 4);

	len = safe_text_clean_buf(clean, 4 * len + 4, s, len, NULL);
	return intern_add_bytes(in, clean, len);
}

/* Writes UTF-8 with escapes, without the quotes. */
static void json_put_utf8(struct json *j, const char *s, size_t len)
{
	size_t plain = 0; /* bytes before s that need no escape */

	for (size_t n; len; s += n, len -= n) {
		uint32_t c = (unsigned char)*s;

		n = c < 0x80 ? 1 : utf8_char(s, len, &c);
		if (c != '"' && c != '\\' &&
		    !(c == '<' && j->form == JSON_HTML) &&
		    ((c >= 0x20 && c < 0x7f) || utf8_shown(c))) {
			plain += n;
			continue;
		}
		fwrite_unlocked(s - plain, 1, plain, j->out);
		plain = 0;
		static const char letter[] =
			"btn.fr"; /* for characters 8 to 13 */

		if (c == '"' || c == '\\')
			fprintf(j->out, "\\%c", (char)c);
		else if (c >= 8 && c <= 13 && c != 11)
			fprintf(j->out, "\\%c", letter[c - 8]);
		else if (c > 0xffff)
			fprintf(j->out, "\\u%04x\\u%04x",
				0xd800 + ((c - 0x10000) >> 10),
				0xdc00 + ((c - 0x10000) & 0x3ff));
		else
			fprintf(j->out, "\\u%04x", c);
	}
	fwrite_unlocked(s - plain, 1, plain, j->out);
}

/* Returns whether s is ASCII without escapes, as most names and all keys are:
 * then it needs no decoding. */
static bool json_is_simple(const struct json *j, const char *s, size_t len)
{
	const char mark = j->form == JSON_HTML ? '<' : '"';

	return !any_where(len, i,
			  s[i] < 0x20 || s[i] > 0x7e || s[i] == '"' ||
				  s[i] == '\\' || s[i] == mark);
}

/* Writes a string with quotes and escapes. */
static void json_put_text(struct json *j, const char *s, size_t len)
{
	putc_unlocked('"', j->out);
	if (json_is_simple(j, s, len))
		fwrite_unlocked(s, 1, len, j->out);
	else if (json_can(s, len))
		json_put_utf8(j, s, len);
	else {
		/* Write a string that is not UTF-8 with \xNN for its bytes. */
		char buf[1024];

		while (len) {
			size_t part = safe_text_part(s, len, 200);
			size_t n = safe_text_clean_buf(buf, sizeof(buf), s,
						       part, NULL);

			json_put_utf8(j, buf, n);
			s += part;
			len -= part;
		}
	}
	putc_unlocked('"', j->out);
}

static struct json_level *json_now(struct json *j)
{
	return &j->level[j->depth];
}

static void json_put_indent(struct json *j)
{
	putc_unlocked('\n', j->out);
	for (unsigned int i = 0; i < j->depth; i++)
		fputs_unlocked("  ", j->out);
}

/* Returns whether members of the innermost container are on lines. */
static bool json_has_lines(struct json *j)
{
	return json_now(j)->lines ||
	       (j->form >= JSON_ROWS && j->depth && j->depth <= 2);
}

/* Writes what separates two members: comma and line break. */
static void json_put_gap(struct json *j)
{
	struct json_level *l = json_now(j);

	if (l->has_members && !l->no_commas)
		putc_unlocked(',', j->out);
	if (j->form == JSON_PRETTY && j->depth)
		json_put_indent(j);
	else if (l->new_line || json_has_lines(j))
		putc_unlocked('\n', j->out);
	l->new_line = false;
	l->has_members = true;
}

static void json_put_key(struct json *j, const char *key)
{
	const struct json_level *l = json_now(j);

	assert(l->is_object == (key != NULL));
	json_put_gap(j);
	if (!key)
		return;
	json_put_text(j, key, strlen(key));
	putc_unlocked(':', j->out);
	if (l->lines)
		putc_unlocked(' ', j->out);
}

static void json_begin(struct json *j, const char *key, bool is_object)
{
	json_put_key(j, key);
	putc_unlocked(is_object ? '{' : '[', j->out);
	assert(j->depth + 1 < JSON_DEPTH);
	j->depth++;
	*json_now(j) = (struct json_level){ .is_object = is_object };
}

void json_object(struct json *j, const char *key)
{
	json_begin(j, key, true);
}

void json_array(struct json *j, const char *key)
{
	json_begin(j, key, false);
}

void json_end(struct json *j)
{
	const struct json_level *l = json_now(j);
	bool lines = l->new_line || (l->has_members && json_has_lines(j));

	assert(j->depth);
	j->depth--;
	if (j->form == JSON_PRETTY)
		json_put_indent(j);
	else if (lines)
		putc_unlocked('\n', j->out);
	putc_unlocked(l->is_object ? '}' : ']', j->out);
}

void json_lines(struct json *j)
{
	json_now(j)->lines = true;
}

void json_break(struct json *j)
{
	json_now(j)->new_line = true;
}

void json_newline(struct json *j)
{
	putc_unlocked('\n', j->out);
}

void json_finish(struct json *j)
{
	json_end(j);
	json_newline(j);
}

static void json_put(struct json *j, const char *key, const char *s, size_t len)
{
	json_put_key(j, key);
	fwrite_unlocked(s, 1, len, j->out);
}

void json_null(struct json *j, const char *key)
{
	json_put(j, key, "null", 4);
}

void json_bool(struct json *j, const char *key, bool v)
{
	json_put(j, key, v ? "true" : "false", v ? 4 : 5);
}

static void json_put_digits(struct json *j, uint64_t v)
{
	char buf[20];
	size_t n = 0;

	do {
		buf[sizeof(buf) - ++n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	fwrite_unlocked(buf + sizeof(buf) - n, 1, n, j->out);
}

void json_int(struct json *j, const char *key, int64_t v)
{
	json_put_key(j, key);
	if (v < 0)
		putc_unlocked('-', j->out);
	json_put_digits(j, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void json_uint(struct json *j, const char *key, uint64_t v)
{
	json_put_key(j, key);
	json_put_digits(j, v);
}

void json_int_or_null(struct json *j, const char *key, int64_t v, bool known)
{
	if (known)
		json_int(j, key, v);
	else
		json_null(j, key);
}

/* 17 digits tell all doubles apart; ".0" marks a whole number as a real. */
const char *json_real_text(char buf[JSON_REAL], double v)
{
	if (isinf(v))
		return v < 0 ? "-9e999" : "9e999";
	int n = snprintf(buf, JSON_REAL - 2, "%.17g", v);
	char *point = strpbrk(buf, ".,e");

	if (point && *point == ',')
		*point = '.';
	if (!point)
		snprintf(buf + n, 3, ".0");
	return buf;
}

void json_real(struct json *j, const char *key, double v)
{
	char buf[JSON_REAL];
	const char *s = isnan(v) ? "null" : json_real_text(buf, v);

	json_put(j, key, s, strlen(s));
}

void json_fixed(struct json *j, const char *key, uint64_t n, uint64_t d,
		unsigned int decimals)
{
	json_put_key(j, key);
	human_put_fixed(j->out, n, d, decimals);
}

void json_hex(struct json *j, const char *key, uint64_t v)
{
	char buf[20];
	size_t n = 0;

	buf[sizeof(buf) - ++n] = '"';
	do {
		buf[sizeof(buf) - ++n] = json_digit[v & 15];
		v >>= 4;
	} while (v);
	buf[sizeof(buf) - ++n] = 'x';
	buf[sizeof(buf) - ++n] = '0';
	json_put_key(j, key);
	putc_unlocked('"', j->out);
	fwrite_unlocked(buf + sizeof(buf) - n, 1, n, j->out);
}

void json_hex_bytes(struct json *j, const char *key, const void *bytes,
		    size_t len)
{
	const unsigned char *p = bytes;

	json_put_key(j, key);
	putc_unlocked('"', j->out);
	for (size_t i = 0; i < len; i++) {
		putc_unlocked(json_digit[p[i] >> 4], j->out);
		putc_unlocked(json_digit[p[i] & 15], j->out);
	}
	putc_unlocked('"', j->out);
}

void json_text(struct json *j, const char *key, const char *s)
{
	if (s)
		json_text_len(j, key, s, strlen(s));
	else
		json_null(j, key);
}

void json_text_len(struct json *j, const char *key, const char *s, size_t len)
{
	json_put_key(j, key);
	json_put_text(j, s, len);
}

void json_shown(struct json *j, const char *key, const char *s)
{
	struct safe_text u;
	size_t len = strlen(s);

	if (json_is_simple(j, s, len)) {
		json_text_len(j, key, s, len);
		return;
	}
	json_put_key(j, key);
	putc_unlocked('"', j->out);
	while (safe_text_next(&s, &u))
		json_put_utf8(j, u.text, strlen(u.text));
	putc_unlocked('"', j->out);
}

void json_number(struct json *j, const char *key, const char *digits)
{
	json_put(j, key, digits, strlen(digits));
}

void json_members(struct json *j, const char *s, size_t len)
{
	if (!len)
		return;
	json_put_gap(j);
	fwrite_unlocked(s, 1, len, j->out);
}
