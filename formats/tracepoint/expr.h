/* expr.h - the expressions in a tracepoint's print format.
 *
 * They are C with REC->field and some __functions, written by the kernel but
 * read from the capture, so they may be anything. A format is parsed once, into
 * nodes; these are evaluated for each payload. Both have limits on depth and
 * output. No function is called and no address is dereferenced. */
#pragma once
#include <stdbool.h>

#include "formats/tracepoint/pointed.h"
#include "stitch/base/mem.h"

struct field;

/* ---- the types that print formats cast to and fields are declared with */

/* The type of a number, by the rules of C. */
struct expr_type {
	uint8_t bytes; /* 0: not known, nothing is cut off */
	bool is_signed;
};

/* A type, and what its pointer leads to if it is one. */
struct expr_declared {
	struct expr_type is, to;
	bool pointer;
};

/* Takes blanks and the word at *s, which may be empty. Returns its length. */
size_t expr_types_word(const char **s, const char **word);

static inline bool expr_word_is(const char *w, size_t n, const char *name)
{
	return n && *w == *name && strlen(name) == n && !memcmp(w, name, n);
}

/* Takes a type. Returns false, and takes nothing, if there is none. */
bool expr_types_take(const char **s, bool long32, struct expr_declared *out);
/* Returns the bytes of the type that the declaration of an array begins with; 1
 * if the type is not known. */
uint32_t expr_types_element(const char *declared, const char *end);

enum expr_op {
	EXPR_NUMBER,  /* num */
	EXPR_STRING,  /* text */
	EXPR_FIELD,   /* num: its index; size: bytes of one element */
	EXPR_UNKNOWN, /* text: a name that has a value in the kernel only */
	/* of numbers, and known once these are */
	EXPR_CAST, /* a, to the type */
	EXPR_NOT,
	EXPR_COMPLEMENT,
	EXPR_NEGATE,
	EXPR_OR, /* of a and b, and so the following */
	EXPR_AND,
	EXPR_BIT_OR,
	EXPR_BIT_XOR,
	EXPR_BIT_AND,
	EXPR_EQUAL,
	EXPR_UNEQUAL,
	EXPR_LESS,
	EXPR_LESS_EQUAL,
	EXPR_MORE,
	EXPR_MORE_EQUAL,
	EXPR_LEFT,
	EXPR_RIGHT,
	EXPR_PLUS,
	EXPR_MINUS,
	EXPR_TIMES,
	EXPR_DIVIDE,
	EXPR_REST,
	/* of any kind */
	EXPR_CHOICE,   /* a ? b : c; without b, a ?: c */
	EXPR_LENGTH,   /* bytes of a */
	EXPR_INDEX,    /* element b of a */
	EXPR_POINTER,  /* a, of elements of this type */
	EXPR_ADDRESS,  /* the bytes of field a */
	EXPR_FLAGS,    /* the names in b of the bits of a; text: between them */
	EXPR_SYMBOLIC, /* the name in b of a */
	EXPR_PAIR,     /* of a list: number a, its name text, next pair b */
	EXPR_HEX,      /* b bytes of a; text: between them */
	EXPR_ARRAY,    /* b elements of a, of c bytes; without b, all */
	EXPR_BITMASK,  /* a, whose words are the kernel's long */
	EXPR_ADDRESSES, /* those in a, which is a stack */
};

struct expr_node {
	enum expr_op op;
	uint16_t height; /* nodes below it, to the deepest */
	uint16_t size;
	struct expr_type type; /* of the number that it is */
	uint32_t a, b, c;      /* 0: none */
	uint64_t num;
	const char *text;
};

/* All zero: no nodes. Node 0 is none. */
struct expr_tree {
	struct expr_node *node;
	size_t n, cap;
	struct arena texts;
};

#define EXPR_TEXT_MAX 4096

/* What is evaluated. Texts of values stay as long as the fields, the tree and
 * this, or until n_text is set to 0. */
struct expr {
	const struct expr_tree *tree;
	const struct field *field; /* as many as the format has */
	struct expr_machine on;
	bool failed;		  /* there is no such field or element */
	bool unknown;		  /* an EXPR_UNKNOWN was met */
	char text[EXPR_TEXT_MAX]; /* output of __print_flags and the like */
	size_t n_text;
};

/* Returns the value of a node for the record of e; 0 with e->failed if there is
 * none, 0 with e->unknown for what nothing is known of. Text is borrowed from
 * e, its tree or the record. */
struct expr_value expr_evaluate(struct expr *e, uint32_t node);

/* ---- numbers of enums of the kernel that print formats name. */

/* Takes a release, as "6.18.44-cloud": 6018. 0: it has no version. */
uint32_t kernel_release_number(const char *text);
/* Sets *out to the number of the name of n bytes in that release. Returns false
 * if it is not known there; 0 is an unknown release. */
bool kernel_name_value(const char *name, size_t n, uint32_t release,
		       int64_t *out);
