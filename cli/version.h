/* version.h - the version of the program, by semver.org: what a new one may
 * change is in backstitch-promises(7). NEWS.md has a section for each. */
#pragma once
#define VERSION "2.0.0"
