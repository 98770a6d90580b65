#!/usr/bin/env node
// NEXT_TEST_DEPLOY_LOGS_SCRIPT_PATH of Next's own test suite: prints the IDs of a deployment, and its logs.

import { BUILD_LOG, markers, SERVER_LOG, textOf } from './deployment.ts'

process.stdout.write(markers() + textOf(BUILD_LOG) + textOf(SERVER_LOG))
