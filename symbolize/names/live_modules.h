/* live_modules.h - lists the modules of the running kernel: symbols that were
 * read before are right as long as none was loaded or unloaded. */
#pragma once
#include <stdbool.h>

/* Reads `list`, a file like /proc/modules, and looks at the folders of the
 * modules in `folder`, which is like /sys/module. Returns a text, for the
 * caller to free, that changes when a module is loaded, unloaded or loaded
 * again. Returns NULL if there is no list, or a module is just being loaded or
 * unloaded. */
char *live_modules_read(const char *list, const char *folder);
/* Returns whether a module of this name is in such a text; false if text is
 * NULL. */
bool live_modules_has(const char *text, const char *name);
