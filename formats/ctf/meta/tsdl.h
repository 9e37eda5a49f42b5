/* tsdl.h - what the files that read TSDL, the language of CTF 1.8 metadata,
 * share.
 *
 * tsdl_lex.c makes tokens and values of the text; tsdl_type.c makes classes
 * wherever C has a type, and reads the rest. tsdl_type.c calls tsdl_lex.c,
 * never the reverse. The parser looks at one token, t->tok; each function
 * starts at the first token of what it reads, and leaves t->tok at the first
 * token after that. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "formats/ctf/meta/raw.h"
#include "formats/reader/scan.h"

/* Words with a meaning in TSDL; none of them is reserved. A key of two words is
 * in the list too. */
#define TSDL_WORDS(X)                                                          \
	X(ALIGN, "align")                                                      \
	X(BASE, "base")                                                        \
	X(BYTE_ORDER, "byte_order")                                            \
	X(CALLSITE, "callsite")                                                \
	X(CLOCK, "clock")                                                      \
	X(CONST, "const")                                                      \
	X(CONTEXT, "context")                                                  \
	X(ABSOLUTE, "absolute")                                                \
	X(ENCODING, "encoding")                                                \
	X(ENUM, "enum")                                                        \
	X(ENV, "env")                                                          \
	X(EVENT, "event")                                                      \
	X(EVENT_CONTEXT, "event.context")                                      \
	X(EVENT_HEADER, "event.header")                                        \
	X(EXP_DIG, "exp_dig")                                                  \
	X(FIELDS, "fields")                                                    \
	X(FLOATING, "floating_point")                                          \
	X(FREQ, "freq")                                                        \
	X(HEADER, "header")                                                    \
	X(ID, "id")                                                            \
	X(INTEGER, "integer")                                                  \
	X(LOGLEVEL, "loglevel")                                                \
	X(MAJOR, "major")                                                      \
	X(MANT_DIG, "mant_dig")                                                \
	X(MAP, "map")                                                          \
	X(MINOR, "minor")                                                      \
	X(NAME, "name")                                                        \
	X(OFFSET, "offset")                                                    \
	X(OFFSET_S, "offset_s")                                                \
	X(PACKET, "packet")                                                    \
	X(PACKET_CONTEXT, "packet.context")                                    \
	X(PACKET_HEADER, "packet.header")                                      \
	X(SIGNED_KEY, "signed")                                                \
	X(SIZE, "size")                                                        \
	X(STREAM, "stream")                                                    \
	X(STREAM_ID, "stream_id")                                              \
	X(STRING_WORD, "string")                                               \
	X(STRUCT, "struct")                                                    \
	X(TRACE, "trace")                                                      \
	X(TYPEALIAS, "typealias")                                              \
	X(TYPEDEF, "typedef")                                                  \
	X(UUID, "uuid")                                                        \
	X(VARIANT, "variant")                                                  \
	X(VOID, "void")                                                        \
	X(CHAR, "char")                                                        \
	X(SHORT, "short")                                                      \
	X(INT, "int")                                                          \
	X(LONG, "long")                                                        \
	X(FLOAT, "float")                                                      \
	X(DOUBLE, "double")                                                    \
	X(UNSIGNED, "unsigned")                                                \
	X(BOOL, "_Bool")                                                       \
	X(COMPLEX, "_Complex")                                                 \
	X(IMAGINARY, "_Imaginary")

enum tsdl_word {
#define TSDL_ENUM(name, text) TSDL_##name,
	TSDL_WORDS(TSDL_ENUM)
#undef TSDL_ENUM
	TSDL_N_WORDS,
};

/* Kinds of tokens; a token of one character has that character as its kind. */
enum tsdl_kind {
	TSDL_END = 256,
	TSDL_IDENT,
	TSDL_NUMBER,
	TSDL_TEXT,
	TSDL_DOTS,   /* ... */
	TSDL_ASSIGN, /* := */
};

struct tsdl_token {
	int kind;
	uint32_t at, len;
	uint32_t name; /* TSDL_IDENT and TSDL_TEXT: number of the name */
	uint64_t num;
};

/* Structures, variants, enumerations and other types have separate name
 * spaces. */
enum tsdl_space {
	TSDL_TYPES,
	TSDL_STRUCTS,
	TSDL_VARIANTS,
	TSDL_ENUMS,
	TSDL_SPACES,
};

struct tsdl_symbol {
	const struct raw_class *type;
	uint32_t key;	 /* name * TSDL_SPACES + space */
	uint32_t hidden; /* index + 1 of the symbol that this one hides */
};

struct tsdl {
	struct raw *r;
	struct scan rest; /* the text after tok */
	struct tsdl_token tok;
	struct tsdl_symbol *symbol;
	size_t n_symbol, cap_symbol;
	uint32_t *top; /* by key: index + 1 of the visible symbol; 0: none */
	size_t n_top, cap_top;
	size_t block; /* symbols before this index belong to outer blocks */
	struct raw_part
		*part; /* members of the structures that are being read */
	size_t n_part, cap_part;
	char *word; /* buffer for a string */
	char *path; /* buffer for a path of several words */
	size_t cap_word, cap_path;
	int depth;
};

/* A value: -2, "text", TRUE, clock.monotonic.value */
struct tsdl_value {
	int kind; /* TSDL_NUMBER, TSDL_TEXT, TSDL_IDENT; TSDL_ASSIGN: a class */
	bool negative;
	uint32_t at;
	uint32_t name; /* IDENT: all words, with '.' between them */
	uint64_t num;  /* magnitude */
	const struct raw_class *type;
};

/* Reads the next token into t->tok; after the last one it is TSDL_END. Returns
 * -1 with the error set if the text is damaged. */
int tsdl_next(struct tsdl *t);
/* Sets an error at the token. Returns -1. */
int tsdl_fail(struct tsdl *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Sets an error with what was found and what was needed. Returns -1. */
int tsdl_unexpected(struct tsdl *t, const char *needed);
/* Moves to the next token. Returns -1 with an error if the token is of another
 * kind than `kind`; `what` describes that one. */
int tsdl_need(struct tsdl *t, int kind, const char *what);
/* Reads words with '.' between them. *name becomes the name of the whole
 * path. */
int tsdl_path(struct tsdl *t, uint32_t *name);

static inline bool tsdl_is(const struct tsdl *t, int kind)
{
	return t->tok.kind == kind;
}

static inline bool tsdl_is_word(const struct tsdl *t, enum tsdl_word word)
{
	return t->tok.kind == TSDL_IDENT && t->tok.name == (uint32_t)word;
}

/* Stores the value of one key of a block in *to. */
typedef int tsdl_set_fn(struct tsdl *t, void *to, uint32_t key,
			const struct tsdl_value *v);
/* Reads "= value;" after a key, and calls set() with the value. */
int tsdl_attribute(struct tsdl *t, uint32_t key, tsdl_set_fn *set, void *to);
/* Reads "{ key = value; ... }", and calls set() for each value. */
int tsdl_attributes(struct tsdl *t, tsdl_set_fn *set, void *to);
int tsdl_value(struct tsdl *t, struct tsdl_value *v);
/* Return -1 with an error if the value is not a number from lo to hi. */
int tsdl_unsigned(struct tsdl *t, const struct tsdl_value *v, uint64_t lo,
		  uint64_t hi, uint64_t *out);
int tsdl_signed(struct tsdl *t, const struct tsdl_value *v, int64_t *out);
int tsdl_bool(struct tsdl *t, const struct tsdl_value *v, bool *out);
const char *tsdl_text(const struct tsdl *t, uint32_t name);
int tsdl_byte_order(struct tsdl *t, const struct tsdl_value *v, bool *native,
		    bool *big);
int tsdl_alignment(struct tsdl *t, const struct tsdl_value *v, uint32_t *out);
