/* live_modules.h - which modules the running kernel has: what was read of their
 * symbols is right as long as none was loaded or unloaded. */
#pragma once
#include <stdbool.h>

/* Reads list, which is as /proc/modules, and looks at the folders of the
 * modules in `folder`, which is as /sys/module. Returns a text to be freed,
 * which is another one when a module was loaded, unloaded or loaded again.
 * NULL: there is no list, or a module is just being loaded or unloaded. */
char *live_modules_read(const char *list, const char *folder);
/* Returns whether a module of this name is in such a text; NULL: none is. */
bool live_modules_has(const char *text, const char *name);
