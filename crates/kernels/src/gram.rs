use nalgebra::DMatrix;

/// stub until merged
#[derive(Debug, Clone)]
pub struct Gram {
    matrix: DMatrix<f64>,
}

impl Gram {
    /// stub
    pub fn precomputed(matrix: DMatrix<f64>) -> Result<Self, crate::Error> {
        Ok(Gram { matrix })
    }
    /// stub
    pub fn matrix(&self) -> &DMatrix<f64> {
        &self.matrix
    }
    /// stub
    pub fn len(&self) -> usize {
        self.matrix.nrows()
    }
    /// stub
    pub fn select(&self, rows: &[usize]) -> Gram {
        Gram { matrix: self.matrix.select_rows(rows).select_columns(rows) }
    }
    /// stub
    pub fn cross_of(&self, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
        self.matrix.select_columns(columns).select_rows(rows)
    }

    /// `K X`.
    pub(crate) fn multiply(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        let (n, columns) = x.shape();
        let mut out = DMatrix::zeros(n, columns);
        faer::linalg::matmul::matmul(
            faer::MatMut::from_column_major_slice_mut(out.as_mut_slice(), n, columns),
            faer::Accum::Replace,
            faer::MatRef::from_column_major_slice(self.matrix.as_slice(), n, n),
            faer::MatRef::from_column_major_slice(x.as_slice(), n, columns),
            1.0,
            faer::Par::Seq,
        );
        out
    }
}
