export { default } from '../../web/pages/500'
