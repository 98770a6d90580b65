declare module 'express-4' {
  // The part of both that an app of the tests has is the same.
  export { default } from 'express'
  export type { Express } from 'express'
}
