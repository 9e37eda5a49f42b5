/* json.h - the one writer of JSON: values go to a FILE as they are made.
 *
 *	struct json j;
 *
 *	json_open(&j, stdout, JSON_COMPACT);
 *	json_object(&j, NULL);
 *	json_int(&j, "cpu", 3);
 *	json_array(&j, "stack");
 *	json_text(&j, NULL, "main");
 *	json_end(&j);
 *	json_end(&j);			{"cpu":3,"stack":["main"]}
 *
 * Every call takes a key: it is needed in an object, and NULL elsewhere.
 * Wrong nesting is a mistake of the caller and fails an assert(). A failed
 * write is kept in the FILE: ask json_failed() in long loops, and fclose() or
 * out_finish() at the end. Nothing is allocated, so a writer needs no release.
 *
 * Strings leave a JSON parser as they went in. Control characters and
 * characters that hide or turn text are written as \uXXXX, so that the output
 * can be shown on a terminal. A string that is not UTF-8 cannot be JSON: its
 * bytes are made safe as by safe_text_clean(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct intern;

#define JSON_DEPTH 24 /* containers in containers */

enum json_form {
	JSON_COMPACT, /* {"a":1,"b":[2,3]} */
	JSON_PRETTY,  /* a member a line, indented by two spaces a level */
	/* compact, but each member of the outermost container, and of those in
	 * it, on a line of its own */
	JSON_ROWS,
	JSON_HTML /* the same for a <script> element: no '<' in strings */
};

/* Private to json.c. */
struct json {
	FILE *out;
	enum json_form form;
	unsigned int depth;
	struct json_level {
		bool is_object, has_members, no_commas, lines, new_line;
	} level[JSON_DEPTH];
};

/* Starts a JSON text. Several values may follow one another at the top level;
 * json_newline() ends each line. */
void json_open(struct json *j, FILE *out, enum json_form form);
/* Starts an answer of a command to --json: an object whose first member is
 * "version", JSON_VERSION, and which the caller ends by json_finish(). */
#define JSON_VERSION 1 /* grows if a key goes away or changes its meaning */
void json_answer(struct json *j, FILE *out, enum json_form form);
/* Starts inside an object or array whose brackets are written elsewhere, for
 * members that json_members() writes later. The form is compact. */
void json_open_members(struct json *j, FILE *out, bool in_object);
/* Returns true once a write has failed. */
bool json_failed(const struct json *j);

/* Begin a container; json_end() ends the innermost. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

/* Puts each member of the innermost container on a line of its own, with a
 * space after the colon of a key. To be called right after json_object() or
 * json_array(), in the compact form. */
void json_lines(struct json *j);
/* Puts the next member, or the end of the container, on a new line. */
void json_break(struct json *j);
/* Writes a newline at once; a comma may follow it. */
void json_newline(struct json *j);
/* Ends the innermost container, and the line: the end of a text. */
void json_finish(struct json *j);

void json_null(struct json *j, const char *key);
void json_bool(struct json *j, const char *key, bool v);
void json_int(struct json *j, const char *key, int64_t v);
void json_uint(struct json *j, const char *key, uint64_t v);
/* Writes v, or null if it is not known. */
void json_int_or_null(struct json *j, const char *key, int64_t v, bool known);
#define JSON_REAL 32
/* Returns the text of v, which may be in buf: 17 significant digits. Infinity,
 * for which JSON and SQL have no word, is 9e999, which is read as such. */
const char *json_real_text(char buf[JSON_REAL], double v);
/* Writes v, or null if it is NaN. */
void json_real(struct json *j, const char *key, double v);
/* Writes n / d with `decimals` decimals, truncated. */
void json_fixed(struct json *j, const char *key, uint64_t n, uint64_t d,
		unsigned int decimals);
/* Writes a string such as "0x1f". */
void json_hex(struct json *j, const char *key, uint64_t v);
/* Writes a string with two hexadecimal digits for each byte. */
void json_hex_bytes(struct json *j, const char *key, const void *bytes,
		    size_t len);
/* Write a string; NULL is written as null. */
void json_text(struct json *j, const char *key, const char *s);
void json_text_len(struct json *j, const char *key, const char *s, size_t len);
/* Writes s as safe_text.h shows it: the escapes are part of the string, for
 * viewers that would interpret control characters. */
void json_shown(struct json *j, const char *key, const char *s);
/* Writes a number whose digits the caller has formatted. */
void json_number(struct json *j, const char *key, const char *digits);
/* Writes members that were formatted before, such as "a":1,"b":2, or 1,2 in an
 * array. len 0 writes nothing. */
void json_members(struct json *j, const char *s, size_t len);

/* Returns whether s can be a JSON string unchanged: UTF-8 without a 0. */
bool json_can(const char *s, size_t len);
/* Returns the id of a text; one that cannot be a JSON string is first made
 * safe, as by safe_text_clean(). */
uint32_t json_intern(struct intern *in, const char *s, size_t len);
