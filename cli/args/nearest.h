/* nearest.h - finds the word that somebody may have meant. */
#pragma once
#include <stddef.h>

/* Nothing is near a word that is longer. */
#define NEAREST_MAX 48
/* Finds the word nearest to what was typed: start with best NULL and offer all
 * words. best stays NULL if no word is near enough. */
struct nearest {
	const char *typed;
	const char *best;
	size_t distance;
};
void nearest_offer(struct nearest *near, const char *word);
