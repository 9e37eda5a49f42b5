/* topics.h - what 'backstitch help TOPIC' can explain. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H
#include <stdio.h>

struct topic {
	const char *name, *summary;
	void (*print)(FILE *out);
};

extern const struct topic topics[]; /* ends with name NULL */
/* Returns the meaning of a verdict; `of` is "request" or "chain". Returns NULL
 * if there is no such verdict. */
const char *topics_verdict(const char *of, const char *word);
#endif
