/* log.c - makes the messages of libbabeltrace2 fit to be shown. */
#include <string.h>

#include "formats/ctf/ctf.h"

void ctf_log_strip_addresses(char *text)
{
	char *addr = strstr(text, "-addr=");

	if (!addr)
		return;
	while (addr > text && *addr != ':' && *addr != ',')
		addr--;
	if (addr > text)
		*addr = 0;
}

void ctf_log_first_line(char *text)
{
	char *start = text;

	for (char *c = text; *c; c++)
		if ((unsigned char)*c >= 0x80)
			start = c + 1;
	start += strspn(start, " \n");
	start[strcspn(start, "\n")] = 0;
	/* of a line by GLib drop process and time */
	char *stars =
		strncmp(start, "(process:", 9) ? NULL : strstr(start, "**: ");
	char *what = stars ? strstr(stars + 4, ": ") : NULL;

	if (what)
		start = what + 2;
	memmove(text, start, strlen(start) + 1);
	ctf_log_strip_addresses(text);
}
