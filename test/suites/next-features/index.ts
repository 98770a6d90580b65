// Features of Next, after the titles of its own test suite, each asked of `next start` and of next-on-fastify.

import { actions, revalidation } from './actions.ts'
import type { FeatureCases } from './conversation.ts'
import { images, metadata } from './files.ts'
import { configuration, i18n, middleware, routeHandlers } from './handlers.ts'
import { errors, navigation, parallelRoutes } from './navigation.ts'
import { edge, instrumentation, pagesRouter } from './runtime.ts'

/** Cases by area. */
export const features: Readonly<Record<string, FeatureCases>> = {
  'App Router navigation': navigation,
  'Parallel and intercepted routes': parallelRoutes,
  'Server actions': actions,
  Revalidation: revalidation,
  'Route handlers': routeHandlers,
  Metadata: metadata,
  'Images and files': images,
  Middleware: middleware,
  Internationalization: i18n,
  'Rules of `next.config`': configuration,
  'Instrumentation and `after()`': instrumentation,
  'Edge runtime': edge,
  'Pages Router': pagesRouter,
  'Errors and missing pages': errors,
}

/** Rows of the table in docs/compatibility.md: area and title. */
export const featureRows: readonly (readonly [area: string, title: string])[] = Object.entries(features).flatMap(
  ([area, cases]) => Object.keys(cases).map((title) => [area, title] as const),
)
