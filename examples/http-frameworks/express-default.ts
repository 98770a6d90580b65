/** The app of `express.ts` for workers: `clustered-server start express-default.ts`. */
export { app as default } from './express-app.ts'
