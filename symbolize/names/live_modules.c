/* live_modules.c - lists the modules of the running kernel.
 *
 * A line of /proc/modules is "ext4 1085440 1 - Live 0xffffffffc0a4b000": name,
 * size, number of users, users, state, address. Users come and go. A module
 * that is loaded again may have the same size and address; its folder in
 * /sys/module then has another inode: kernfs numbers its nodes one after the
 * other. */
#include "symbolize/names/live_modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "symbolize/symbolizer.h"

/* Adds the identity of one module. Returns false if the line has another form,
 * or the module is being loaded or unloaded. */
static bool live_modules_add(const char *line, const char *folder, FILE *out)
{
	char name[64], size[32], state[32], address[32], path[PATH_SIZE];
	struct stat st;

	if (sscanf(line, "%63s %31s %*s %*s %31s %31s", name, size, state,
		   address) != 4 ||
	    strcmp(state, "Live") != 0 || strchr(name, '/'))
		return false;
	snprintf(path, sizeof(path), "%.4000s/%s", folder, name);
	if (stat(path, &st))
		return false;
	fprintf(out, "\n%s %s %s %" PRIu64 " %" PRId64 ".%ld", name, size,
		address, (uint64_t)st.st_ino, (int64_t)st.st_ctim.tv_sec,
		st.st_ctim.tv_nsec);
	return true;
}

char *live_modules_read(const char *list, const char *folder)
{
	char *text = NULL;
	char *line OWNED = NULL;
	size_t cap = 0;
	bool good = true;
	FILE *f = fopen(list, "re");

	if (!f)
		return NULL;
	FILE *out = mem_stream(&text, NULL);

	while (good && getline(&line, &cap, f) > 0)
		good = live_modules_add(line, folder, out);
	good &= !ferror(f);
	mem_stream_end(out);
	fclose(f);
	if (good)
		return text;
	free(text);
	return NULL;
}

bool live_modules_has(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = text; s && (s = strchr(s, '\n'));)
		if (!strncmp(++s, name, n) && s[n] == ' ')
			return true;
	return false;
}
