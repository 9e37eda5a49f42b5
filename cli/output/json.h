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
#ifndef CLI_OUTPUT_JSON_H
#define CLI_OUTPUT_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct rows;
struct value;

#define JSON_DEPTH 24 /* containers in containers */

enum json_form {
	JSON_COMPACT, /* {"a":1,"b":[2,3]} */
	JSON_PRETTY,  /* a member a line, indented by two blanks a level */
	JSON_HTML     /* compact, for a <script> element: no '<' in strings */
};

/* Only json.c looks inside. */
struct json {
	FILE *out;
	enum json_form form;
	unsigned int depth;
	struct json_level {
		bool is_object, has_members, lines, new_line;
	} level[JSON_DEPTH];
};

/* Starts a text of JSON. Several values may follow each other at the top;
 * json_newline() ends each line. */
void json_open(struct json *j, FILE *out, enum json_form form);
/* Starts in the middle of an object, whose braces are written elsewhere: for
 * members that are made once and repeated by json_raw(). */
void json_open_members(struct json *j, FILE *out, enum json_form form);
/* True once a write has failed. */
bool json_failed(const struct json *j);

/* Begin a container; json_end() ends the innermost. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

/* Line breaks of the compact form.
 * Each member of the innermost container gets a line of its own, and a key a
 * blank behind its colon. Call it right after json_object(), json_array(). */
void json_lines(struct json *j);
/* The next member, or the end of the container, begins a new line. */
void json_break(struct json *j);
/* Writes a newline at once, in front of a comma that may follow. */
void json_newline(struct json *j);

void json_null(struct json *j, const char *key);
void json_bool(struct json *j, const char *key, bool v);
void json_int(struct json *j, const char *key, int64_t v);
void json_uint(struct json *j, const char *key, uint64_t v);
/* v, or null when it is not known. */
void json_int_or_null(struct json *j, const char *key, int64_t v, bool known);
/* With as many digits as a double needs; "NaN", "Infinity" for what JSON has
 * no number for. */
void json_real(struct json *j, const char *key, double v);
/* n / d with `decimals` digits behind the point, cut, not rounded. */
void json_fixed(struct json *j, const char *key, uint64_t n, uint64_t d,
		unsigned int decimals);
/* The string "0x1f". */
void json_hex(struct json *j, const char *key, uint64_t v);
/* The string of two digits a byte. */
void json_hex_bytes(struct json *j, const char *key, const void *bytes,
		    size_t len);
/* NULL is written as null. */
void json_text(struct json *j, const char *key, const char *s);
void json_text_len(struct json *j, const char *key, const char *s, size_t len);
/* As people are shown a name (safe_text.h): the escapes are part of the
 * string, for viewers that would obey control characters. */
void json_shown(struct json *j, const char *key, const char *s);
/* Ready JSON, as it is: a number, or without a key in an object whole members
 * ("a":1,"b":2). len 0 adds nothing. */
void json_raw(struct json *j, const char *key, const char *s, size_t len);

/* One value of a row; a blob as hex of at most a MiB. */
void json_value(struct json *j, const char *key, const struct value *v);
/* The next row as an object, null when there is none; 0, or -1 and *err. Of
 * columns with one name the last counts. */
int json_row(struct json *j, const char *key, struct rows *r, struct err *err);
/* All rows as an array of objects, one a line; 0, or -1 and *err. Stops early,
 * with 0, once a write has failed. */
int json_rows(struct json *j, const char *key, struct rows *r, struct err *err);

/* Can s be a JSON string as it is: UTF-8 without a 0? */
bool json_can(const char *s, size_t len);
#endif
