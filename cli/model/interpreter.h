/* interpreter.h - frames that are an interpreter's own, and frames that are
 * the code which it runs, by a table of rules.
 *
 * A rule knows a frame by its image and its name. Nothing is taken out of the
 * database: this is about what flame and report show. */
#ifndef CLI_MODEL_INTERPRETER_H
#define CLI_MODEL_INTERPRETER_H
#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"

/* --interpreter */
extern const struct opt interpreter_opts[];

enum interpreter_mode {
	INTERPRETER_KEEP,     /* all frames, as they are */
	INTERPRETER_MARK,     /* its own begin with "[interpreter: python] " */
	INTERPRETER_COLLAPSE, /* its own are one such frame, or none where
			       * the frames of the code are in the stack */
};

/* What the option says. */
enum interpreter_mode interpreter_mode(void);

enum interpreter_class {
	INTERPRETER_NONE,
	INTERPRETER_OWN,
	INTERPRETER_CODE,
};

struct interpreter_frame {
	uint8_t kind;	  /* enum interpreter_class */
	uint8_t language; /* 1 ...; 0: none */
};

/* Which interpreters an image is of: a set. Jitted code may be of any. */
uint32_t interpreters_of(const char *path, bool jit);
/* What a function of such an image is. */
struct interpreter_frame interpreter_frame(uint32_t set, bool jit,
					   const char *name);
/* "[interpreter: python]" */
const char *interpreter_label(uint8_t language);
#endif
