#!/usr/bin/env node
// A file of its own, because npm links only what is there when it installs, and that is before the build.
import '../dist/main.js'
