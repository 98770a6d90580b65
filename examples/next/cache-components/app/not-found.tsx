export { default } from '../../web/app/not-found'
