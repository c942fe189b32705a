export default () => "arrow";
