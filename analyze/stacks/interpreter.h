/* interpreter.h - distinguishes an interpreter's own frames from frames of the
 * code that it runs, by a table of rules.
 *
 * A rule recognises a frame by its image and its name. It changes what flame
 * and report show, not the database. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum interpreter_mode {
	INTERPRETER_KEEP, /* show all frames unchanged */
	INTERPRETER_MARK, /* prefix own frames with "[interpreter: python] " */
	INTERPRETER_COLLAPSE, /* replace a run of own frames with one such
			       * frame, or none if the stack has frames of the
			       * code */
};

/* Words of these modes, "keep", "mark", "collapse"; ends with NULL. */
extern const char *const interpreter_words[];
/* Returns the mode of a word; NULL: INTERPRETER_KEEP. */
enum interpreter_mode interpreter_mode(const char *word);

enum interpreter_class {
	INTERPRETER_NONE,
	INTERPRETER_OWN,
	INTERPRETER_CODE,
};

struct interpreter_frame {
	uint8_t kind;	  /* enum interpreter_class */
	uint8_t language; /* 1 and up; 0: none */
};

/* Returns the set of interpreters that an image belongs to; jitted code may
 * belong to any. */
uint32_t interpreters_of(const char *path, bool jit);
/* Returns what a function is. set: interpreters_of() its image. */
struct interpreter_frame interpreter_frame(uint32_t set, bool jit,
					   const char *name);
/* Returns the label of a language: "[interpreter: python]". */
const char *interpreter_label(uint8_t language);
