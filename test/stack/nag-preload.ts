import { App } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';

/** Loaded before an app: prints what AwsSolutions says of it, in place of synthesizing it. */
App.prototype.synth = function check(this: App) {
  console.log(JSON.stringify(new AwsSolutionsChecks(this).validateScope(this)));
  process.exit();
};
