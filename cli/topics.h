/* topics.h - what 'backstitch help TOPIC' can explain. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H
#include <stdio.h>

struct topic {
	const char *name;
	void (*print)(FILE *out);
};

extern const struct topic topics[]; /* ends with name NULL */
#endif
