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

/* ---- the types that print formats cast to and that fields are declared
 * with */

/* The type of a number, by the rules of C. */
struct expr_type {
	uint8_t bytes; /* 0: unknown, so nothing is cut off */
	bool is_signed;
};

/* A type, and the type it points to if it is a pointer. */
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
/* Returns the size in bytes of the elements of a declared array; 1 if their
 * type is not known. */
uint32_t expr_types_element(const char *declared, const char *end);

enum expr_op {
	EXPR_NUMBER,  /* num */
	EXPR_STRING,  /* text */
	EXPR_FIELD,   /* num: index of the field; size: bytes of one element */
	EXPR_UNKNOWN, /* text: a name whose value only the kernel knows */
	/* These have numbers as operands, and a known value if those have
	 * one. */
	EXPR_CAST, /* a, converted to the type */
	EXPR_NOT,
	EXPR_COMPLEMENT,
	EXPR_NEGATE,
	EXPR_OR, /* operators on a and b, down to ... */
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
	/* These take operands of any kind. */
	EXPR_CHOICE,   /* a ? b : c; without b, a ?: c */
	EXPR_LENGTH,   /* length of a in bytes */
	EXPR_INDEX,    /* element b of a */
	EXPR_POINTER,  /* a, as an array of elements of this type */
	EXPR_ADDRESS,  /* the bytes of field a in memory */
	EXPR_FLAGS,    /* names of the bits of a from list b; text: separator */
	EXPR_SYMBOLIC, /* the name of the number a from list b */
	EXPR_PAIR,  /* of a list: number a, its name in text, the next pair b */
	EXPR_HEX,   /* b bytes of a; text: separator */
	EXPR_ARRAY, /* b elements of a, c bytes each; without b, all */
	EXPR_BITMASK,	/* a, a bitmap of longs of the kernel */
	EXPR_ADDRESSES, /* the addresses in a, which is a stack */
};

struct expr_node {
	enum expr_op op;
	uint16_t height; /* levels of nodes below this one */
	uint16_t size;
	struct expr_type type; /* the type of the number */
	uint32_t a, b, c;      /* operands; 0: none */
	uint64_t num;
	const char *text;
};

/* All zero: no nodes. Node 0 stands for none. */
struct expr_tree {
	struct expr_node *node;
	size_t n, cap;
	struct arena texts;
};

#define EXPR_TEXT_MAX 4096

/* An evaluation. Texts of values are valid as long as the fields, the tree and
 * this struct, or until n_text is set to 0. */
struct expr {
	const struct expr_tree *tree;
	const struct field *field; /* one for each field of the format */
	struct expr_machine on;
	bool failed;		  /* a field or element does not exist */
	bool unknown;		  /* an EXPR_UNKNOWN was evaluated */
	char text[EXPR_TEXT_MAX]; /* output of __print_flags and the like */
	size_t n_text;
};

/* Returns the value of a node for the record of e. It is 0 with e->failed set
 * if there is none, or with e->unknown set if only the kernel knows it. Text is
 * borrowed from e, its tree or the record. */
struct expr_value expr_evaluate(struct expr *e, uint32_t node);

/* ---- numbers of kernel enums that print formats name. */

/* Returns a release such as "6.18.44-cloud" as a number: 6018; 0 if the text
 * has no version. */
uint32_t kernel_release_number(const char *text);
/* Sets *out to the number of a name of n bytes in that release. Returns false
 * if it is not known there; release 0 is an unknown release. */
bool kernel_name_value(const char *name, size_t n, uint32_t release,
		       int64_t *out);
