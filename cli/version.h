/* version.h - the version of the program. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H
#ifndef VERSION
#define VERSION "0.1"
#endif
#endif
