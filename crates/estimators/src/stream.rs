//! Stochastic gradient: one pass over a stream in bounded memory, or several over data in memory.
//!
//! ```
//! use margins_data::read::{Format, ReadOptions, Stream};
//! use margins_estimators::stream::StreamSettings;
//! use margins_optim::Lambda;
//!
//! let text = "+1 1:0.5 3:1\n-1 2:2\n+1 3:0.25\n";
//! let options = ReadOptions { columns: Some(3), ..ReadOptions::default() };
//! let mut stream = Stream::from_reader(text.as_bytes(), "x.svm", Format::Svmlight, &options, None)?;
//! let streamed = StreamSettings::new(Lambda::new(0.01)?).fit_stream(&mut stream)?;
//! assert_eq!((streamed.steps, streamed.model.columns()), (3, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod class_order;
mod fit;
mod learner;
mod progressive_loss;
mod rescaling;
mod settings;

pub use class_order::ClassOrder;
pub use fit::{FittedStream, Streamed};
pub use learner::{State, StreamLearner};
pub use rescaling::data_driven_scale;
pub use settings::{Projection, RescaleSteps, StepSchedule, StreamMethod, StreamSettings};
